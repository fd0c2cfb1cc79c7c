"""Commands that end with the process that runs the tests, even if that was killed.

They train for ever, some of them, in a session of their own: nobody would find them.
"""

import shutil

WITH_US = ("setpriv", "--pdeathsig", "TERM", "--") if shutil.which("setpriv") else ()
"""To stand before a command; Linux only, elsewhere nothing. The process stays the same."""
