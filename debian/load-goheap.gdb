# goheap in every session of GDB, which reads this after goheap.gdb. To have sessions without it, empty this file.
if $_isvoid($goheap_loaded)
  jit-reader-load goheap.so
  set $goheap_preloaded = 1
end
