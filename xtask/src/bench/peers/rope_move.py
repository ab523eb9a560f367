"""Moves modules with rope: root, then pairs of module path and target package path."""

import sys

from rope.base.project import Project
from rope.refactor.move import create_move

root, *pairs = sys.argv[1:]
project = Project(root, ropefolder=None, ignore_syntax_errors=True)
try:
    for path, package in zip(pairs[::2], pairs[1::2]):
        move = create_move(project, project.get_resource(path))
        project.do(move.get_changes(project.get_resource(package)))
finally:
    project.close()
