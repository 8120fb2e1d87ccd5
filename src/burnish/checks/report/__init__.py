"""What a check run leaves for people and machines: a page, a text and a file of data. All say the same."""
