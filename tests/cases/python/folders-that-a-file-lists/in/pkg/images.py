from library import find_glob


def images(root):
    return find_glob(root / "label", "*.nii.gz") + sorted(root.glob("*.nii"))
