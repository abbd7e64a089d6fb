// Runs one kernel as a job file says, on buffers that are files:
//   launch <blocks> <threads> <cluster> <shared bytes> <all resident: 0 or 1> <seed>
//   arguments <file>
//   buffer <file> <bytes> <0: read only, 1: written back> <byte of the arguments where its address goes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include "entry.hpp"
#include "fibers.hpp"

namespace {

struct Buffer {
  std::string file;
  size_t bytes;
  bool written;
  std::unique_ptr<emulator::Fenced> memory;
};

size_t read_file(const char* path, unsigned char* target, size_t bytes) {
  std::FILE* const file = std::fopen(path, "rb");
  if (!file) emulator::fail("cannot read %s", path);
  const size_t got = std::fread(target, 1, bytes, file);
  std::fclose(file);
  return got;
}

void write_file(const char* path, const unsigned char* source, size_t bytes) {
  std::FILE* const file = std::fopen(path, "wb");
  if (!file || std::fwrite(source, 1, bytes, file) != bytes) emulator::fail("cannot write %s", path);
  std::fclose(file);
}

void on_signal(int number, siginfo_t* info, void*) {
  if (number == SIGALRM) emulator::fail("still running after the time allowed");
  emulator::fail("an access outside every array, or a write to one that is read only (address %p)", info->si_addr);
}

void install_handlers() {
  static unsigned char stack[64 * 1024];
  stack_t alternate{};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGALRM}) sigaction(number, &action, nullptr);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) emulator::fail("usage: %s JOB", words[0]);
  install_handlers();
  std::FILE* const job = std::fopen(words[1], "r");
  if (!job) emulator::fail("cannot read %s", words[1]);
  emulator::Launch launch{};
  const size_t argument_bytes = emulator::kernel_argument_bytes;
  std::vector<unsigned char> arguments(argument_bytes + 1);  // one more shows a file that is too long
  std::vector<Buffer> buffers;
  char word[16], path[4096];
  while (std::fscanf(job, "%15s", word) == 1) {
    if (!std::strcmp(word, "launch")) {
      int resident;
      if (std::fscanf(job, "%u %u %u %u %d %u", &launch.blocks, &launch.threads, &launch.cluster, &launch.shared_bytes, &resident,
                      &launch.seed) != 6)
        emulator::fail("a launch needs six numbers");
      launch.all_resident = resident;
    } else if (!std::strcmp(word, "arguments")) {
      if (std::fscanf(job, "%4095s", path) != 1 || read_file(path, arguments.data(), argument_bytes + 1) != argument_bytes)
        emulator::fail("the kernel takes %zu bytes of arguments", argument_bytes);
    } else {
      size_t bytes, place;
      int written;
      if (std::fscanf(job, "%4095s %zu %d %zu", path, &bytes, &written, &place) != 4 || place + 8 > argument_bytes)
        emulator::fail("a buffer needs a file and three numbers");
      buffers.push_back({path, bytes, written != 0, std::make_unique<emulator::Fenced>(bytes, (launch.seed + buffers.size()) % 2 == 0)});
      unsigned char* const data = buffers.back().memory->data;
      read_file(path, data, bytes);
      if (!written) buffers.back().memory->make_read_only();
      std::memcpy(arguments.data() + place, &data, 8);
    }
  }
  std::fclose(job);
  launch.kernel = [&] { emulator::call_kernel(arguments.data()); };
  alarm(100);
  emulator::run_launch(launch);
  for (const Buffer& buffer : buffers) {
    if (!buffer.memory->margins_untouched()) emulator::fail("a write just outside %s", buffer.file.c_str());
    if (buffer.written) write_file(buffer.file.c_str(), buffer.memory->data, buffer.bytes);
  }
  return 0;
}
