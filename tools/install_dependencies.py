"""Install what pyproject.toml names (runtime, and the `dev` extra) into the running interpreter's environment.

The versions are those of constraints.txt, so that lint and generated pages are the same everywhere. To move to newer
ones: install them, then `pip freeze --exclude-editable > tools/constraints.txt`.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

TOOLS = Path(__file__).parent
project = tomllib.loads((TOOLS.parent / "pyproject.toml").read_text())["project"]
wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
sys.exit(subprocess.call([*pip, "--constraint", str(TOOLS / "constraints.txt"), *wanted]))
