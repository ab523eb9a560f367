from graph import node
