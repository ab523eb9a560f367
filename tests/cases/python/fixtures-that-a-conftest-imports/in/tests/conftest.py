from tests.helpers import data, maker

pytest_plugins = ["tests.plugin"]
