// How the machine calls the kernel: the end of a rewritten translation unit says EMULATED_KERNEL(name).
#pragma once
#include <cstddef>

namespace emulator {

extern const size_t kernel_argument_bytes;
void call_kernel(const void* arguments);

template <class Arguments>
constexpr size_t argument_bytes(void (*)(Arguments)) {
  return sizeof(Arguments);
}

template <class Arguments>
void call_with(void (*kernel)(Arguments), const void* arguments) {
  kernel(*static_cast<const Arguments*>(arguments));
}

}  // namespace emulator

#define EMULATED_KERNEL(name)                                              \
  const size_t emulator::kernel_argument_bytes = emulator::argument_bytes(name); \
  void emulator::call_kernel(const void* arguments) { emulator::call_with(name, arguments); }
