# Installs Burnish on Windows. Burnish runs in WSL 2, a Linux beside Windows: its sandbox needs Linux.
# This finds WSL or, with your leave, sets it up, and hands over to install.sh in there; options are passed on to it.
# Not tried on a real Windows: docs/install.md says what was tried where.
$ErrorActionPreference = 'Stop'
$distribution = 'Debian'
$given = $args

function Fail([string] $said) {
    [Console]::Error.WriteLine("burnish: $said")
    exit 2
}

function Confirm-Leave([string] $question) {
    if ($given -contains '--yes') { return $true }
    return (Read-Host "$question [y/N]") -in @('y', 'yes')
}

function Get-Distributions {
    # wsl.exe writes UTF-16, which older PowerShells read as letters with zeros between them.
    $lines = & wsl.exe --list --quiet 2>$null
    if ($LASTEXITCODE -ne 0) { return @() }
    return @($lines | ForEach-Object { ($_ -replace "`0", '').Trim() } | Where-Object { $_ -and $_ -notlike 'docker-desktop*' })
}

if (-not [Environment]::Is64BitOperatingSystem) {
    Fail 'Burnish needs a Windows with 64 bits, as WSL 2 does. To see which this is, type: systeminfo'
}
if ([Environment]::OSVersion.Version.Build -lt 19041) {
    Fail 'WSL 2 needs Windows 10 version 2004 or newer. To update, type: start ms-settings:windowsupdate'
}
if (-not (Get-Command wsl.exe -ErrorAction SilentlyContinue)) {
    Fail 'this Windows has no wsl.exe. As administrator, type: dism /online /enable-feature /featurename:Microsoft-Windows-Subsystem-Linux'
}

$found = Get-Distributions
if ($found.Count -eq 0) {
    Write-Host "Burnish runs in WSL 2, and there is no Linux in it yet. Setting it up needs an administrator, and perhaps a restart."
    if (-not (Confirm-Leave "Set up WSL with $distribution now?")) {
        Fail "nothing was changed. To set it up yourself, type: wsl --install -d $distribution"
    }
    $setup = Start-Process wsl.exe -ArgumentList '--install', '-d', $distribution -Verb RunAs -Wait -PassThru
    $found = Get-Distributions
    if ($setup.ExitCode -ne 0 -or $found.Count -eq 0) {
        Fail "WSL is not ready: restart Windows, start $distribution once from the menu to choose a user, then type: $PSCommandPath"
    }
}
$linux = if ($found -contains $distribution) { $distribution } else { $found[0] }
Write-Host " ok WSL       $linux"

$folder = $PSScriptRoot -replace '\\', '/'
$command = @('-d', $linux, '-e', 'wslpath', '-a', $folder)
$here = & wsl.exe $command
if ($LASTEXITCODE -ne 0) {
    Fail "$linux does not start. To see why, type: wsl -d $linux"
}
$command = @('-d', $linux, '-e', 'sh', "$here/install.sh") + $given
& wsl.exe $command
exit $LASTEXITCODE
