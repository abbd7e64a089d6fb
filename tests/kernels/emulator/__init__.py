"""An emulated GPU: runs the kernels' own sources on the CPU, compiled as C++."""
