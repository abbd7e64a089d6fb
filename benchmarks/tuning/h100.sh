#!/bin/bash
# The worked examples on a GPU, beside Kernel Tuner and Triton's autotune: h100.sh record|peers|ours|busy OUT
# `record` measures whole spaces; `peers` and `ours` end at the first configuration within 5 % of their best.
out=$2
run() { timeout "$1" python3 benchmarks/tuning/examples.py "${@:2}" --out "$out" 2>"$out/stderr.txt" || tail -5 "$out/stderr.txt"; }
case $1 in
record)
  for one in ${ONLY:-matmul hotspot softmax}; do
    run 70 exhaustive --only $one --seconds "${SECONDS_EACH:-50}" | cut -c 1-400
  done
  ;;
peers)
  for one in ${ONLY-hotspot matmul reduction}; do
    run 60 kernel-tuner --only $one --seconds "${SECONDS_EACH:-25}" --seeds "${SEEDS:-1}"
  done
  python3 -c 'import torch, triton' # both sides find the files in memory
  for one in ${TRITON-softmax attention}; do run 60 autotune --only $one; done
  ;;
ours) for one in ${ONLY:-matmul hotspot reduction}; do run 45 ours --only $one --seconds 20 --seeds "${SEEDS:-3}"; done ;;
busy) for one in matmul hotspot; do run 20 busy --only $one --seconds 6; done ;;
esac
