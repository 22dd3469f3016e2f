@rem Lets cmd.exe run the script "start", which on other systems replaces its shell.
@%*
