"""Make docs/studies/NAME.md and its pictures from a stored run: `tools/write_study_page.py RUN [NAME]`.

NAME is the study's name, unless there is to be a further page of one study.
"""

import json
import shutil
import sys
from pathlib import Path

STUDIES = Path(__file__).parent.parent / "docs" / "studies"


def main() -> int:
    """Copy the run's report; return the exit code."""
    if len(sys.argv) not in {2, 3} or not (Path(sys.argv[1]) / "report.md").exists():
        print("usage: tools/write_study_page.py RUN [NAME], RUN being a folder with a report", file=sys.stderr)
        return 2
    run = Path(sys.argv[1])
    manifest = json.loads((run / "manifest.json").read_text())
    name = sys.argv[2] if len(sys.argv) == 3 else manifest["study"]
    if manifest["status"] != "complete":
        print(f"{run}: the run is {manifest['status']}; a page wants a complete one", file=sys.stderr)
        return 2
    pictures = STUDIES / name
    shutil.rmtree(pictures, ignore_errors=True)
    text = (run / "report.md").read_text()
    for picture in (run / "pictures").glob("*.svg"):
        pictures.mkdir(parents=True, exist_ok=True)
        shutil.copy(picture, pictures)
        text = text.replace(f"pictures/{picture.stem}.png", f"{name}/{picture.name}")
    (STUDIES / f"{name}.md").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
