"""Checks ATIF documents with harbor's own models. Needs Python 3.12 and `pip install harbor`."""

import json
import sys

from harbor.models.trajectories import Trajectory

for path in sys.argv[1:]:
    with open(path) as f:
        document = json.load(f)
    t = Trajectory.model_validate(document)
    print(f"{path}: {t.schema_version}, {len(t.steps)} steps, accepted")
