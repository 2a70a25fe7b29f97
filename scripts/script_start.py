"""The start of every script of this folder; old Pythons must be able to read this file, too."""

import os
import sys

if not (3, 10) <= sys.version_info[:2] <= (3, 14):
    version = ".".join(map(str, sys.version_info[:2]))
    sys.exit("rnng_dy needs Python 3.10 to 3.14, this is " + version)

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
