// Before anything is painted: the theme that the reader chose, else what their system says.
const theme = localStorage.getItem("theme");
if (theme) document.documentElement.dataset.theme = theme;
