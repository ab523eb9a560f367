"""What was made faster, each part by somebody else."""
