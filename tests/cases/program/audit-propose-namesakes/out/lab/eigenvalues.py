"""What eigenvalues tell."""
import numpy as np


def anisotropy(eigenvalues, epsilon=1e-6):
    """Of the eigenvalues of the neighbours."""
    first = eigenvalues[:, 0]
    second = eigenvalues[:, 1]
    third = eigenvalues[:, 2]
    safe = np.maximum(first, epsilon)
    share = (first - third) / safe
    share = np.clip(share, 0.0, 1.0)
    return share.astype(np.float32)


def linearity(eigenvalues, epsilon=1e-6):
    """Of the eigenvalues of the neighbours."""
    first = eigenvalues[:, 0]
    second = eigenvalues[:, 1]
    third = eigenvalues[:, 2]
    safe = np.maximum(first, epsilon)
    share = (first - second) / safe
    share = np.clip(share, 0.0, 1.0)
    return share.astype(np.float32)


def planarity(eigenvalues, epsilon=1e-6):
    """Of the eigenvalues of the neighbours."""
    first = eigenvalues[:, 0]
    second = eigenvalues[:, 1]
    third = eigenvalues[:, 2]
    safe = np.maximum(first, epsilon)
    share = (second - third) / safe
    share = np.clip(share, 0.0, 1.0)
    return share.astype(np.float32)
