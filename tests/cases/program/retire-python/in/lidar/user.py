"""See lidar.legacy in prose."""
def late():
    import lidar.legacy

    return lidar.legacy
