import collections


def walk(grid, start):
    seen = {start}
    queue = collections.deque([start])
    distance = {start: 0}
    while queue:
        node = queue.popleft()
        for step in grid.neighbours(node):
            if step in seen:
                continue
            if not grid.passable(step):
                continue
            seen.add(step)
            cost = grid.cost(node, step)
            distance[step] = distance[node] + cost
            queue.append(step)
    borders = []
    for node in grid.nodes():
        if node not in distance:
            continue
        for step in grid.neighbours(node):
            if step not in distance and grid.passable(step):
                borders.append((node, step))
    levels = collections.defaultdict(list)
    for node, far in sorted(distance.items()):
        level = int(far // grid.scale)
        if level >= grid.levels:
            level = grid.levels - 1
        levels[level].append(node)
    sizes = [len(levels[level]) for level in range(grid.levels)]
    if sum(sizes) != len(distance):
        raise ValueError(sizes)
    longest = max(distance.values())
    grid.mark(borders, longest)
    grid.report(levels)
    return distance
