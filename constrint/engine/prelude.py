"""Definitions at the head of each text for LLVM: division and shifts with Python's meaning."""

PRELUDE = """
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
declare i64 @llvm.abs.i64(i64, i1)
declare i64 @llvm.ctpop.i64(i64)
declare void @llvm.trap()
declare i64 @llvm.umin.i64(i64, i64)
define internal i64 @left(i64 %x, i64 %y) alwaysinline {
  %inside = icmp ult i64 %y, 64
  %by = select i1 %inside, i64 %y, i64 0
  %shifted = shl i64 %x, %by
  %answer = select i1 %inside, i64 %shifted, i64 0
  ret i64 %answer
}
define internal i64 @right(i64 %x, i64 %y) alwaysinline {
  %by = call i64 @llvm.umin.i64(i64 %y, i64 63)
  %answer = ashr i64 %x, %by
  ret i64 %answer
}
define internal i64 @quotient(i64 %x, i64 %y) alwaysinline {
  %none = icmp eq i64 %y, 0
  %back = icmp eq i64 %y, -1
  %either = or i1 %none, %back
  %by = select i1 %either, i64 1, i64 %y
  %q = sdiv i64 %x, %by
  %product = mul i64 %q, %by
  %r = sub i64 %x, %product
  %open = icmp ne i64 %r, 0
  %signs = xor i64 %r, %by
  %differ = icmp slt i64 %signs, 0
  %down = and i1 %open, %differ
  %less = sext i1 %down to i64
  %floor = add i64 %q, %less
  %opposite = sub i64 0, %x
  %known = select i1 %back, i64 %opposite, i64 %floor
  %answer = select i1 %none, i64 0, i64 %known
  ret i64 %answer
}
define internal i64 @remainder(i64 %x, i64 %y) alwaysinline {
  %none = icmp eq i64 %y, 0
  %back = icmp eq i64 %y, -1
  %either = or i1 %none, %back
  %by = select i1 %either, i64 1, i64 %y
  %r = srem i64 %x, %by
  %open = icmp ne i64 %r, 0
  %signs = xor i64 %r, %by
  %differ = icmp slt i64 %signs, 0
  %down = and i1 %open, %differ
  %more = select i1 %down, i64 %by, i64 0
  %answer = add i64 %r, %more
  ret i64 %answer
}
"""
