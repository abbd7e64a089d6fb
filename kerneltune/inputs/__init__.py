"""What is asked for: profiles, kernels, problems."""
