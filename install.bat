@echo off
rem Installs Burnish on Windows: a file to double-click. It starts install.ps1, which lies beside it, and waits at the end.
rem Not tried on a real Windows: docs/install.md says what was tried where.
setlocal
set "script=%~dp0install.ps1"
if not exist "%script%" (
    echo burnish: install.ps1 is missing beside this file. Unpack all of the archive, then type: "%~f0"
    exit /b 2
)
where powershell.exe >nul 2>nul
if errorlevel 1 (
    echo burnish: there is no PowerShell here, and WSL cannot be set up without it. Type: winget install Microsoft.PowerShell
    exit /b 2
)
powershell.exe -NoProfile -ExecutionPolicy Bypass -File "%script%" %*
set "code=%errorlevel%"
if "%~1"=="" pause
exit /b %code%
