"""Recurrent cells from their equations: read, differentiated, written as CUDA and as a float64 reference."""
