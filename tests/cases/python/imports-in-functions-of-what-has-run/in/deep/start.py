import deep.points
