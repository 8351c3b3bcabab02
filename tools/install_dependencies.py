"""Install what pyproject.toml names (runtime, and the `dev` extra) into the running interpreter's environment."""

import subprocess
import sys
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
sys.exit(subprocess.call([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted]))
