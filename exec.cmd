@rem Scripts of package.json begin with `exec`, which is a command of POSIX shells: a signal then reaches Node itself. This is `exec` of Windows.
@%*
