"""What matplotlib says and leaves behind where there is no home folder, as for users of a system's services."""

import os
import subprocess
import sys


def test_without_a_home_folder_pictures_are_drawn_in_silence(tmp_path):
    places = ("HOME", "MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in places}
    draw = "import dnsrig.report.pictures.gallery, matplotlib.font_manager; print(matplotlib.get_cachedir())"
    done = subprocess.run(
        [sys.executable, "-c", draw],
        env={**environment, "HOME": "/proc/none", "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout.startswith(str(tmp_path))
    assert list(tmp_path.iterdir()) == []
