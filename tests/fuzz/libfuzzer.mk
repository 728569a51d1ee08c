# The fuzz targets with libFuzzer, for `make fuzz', which gives the variables that are in capitals, and for each target
# its sources. Each runs for SECONDS on its corpus in the directory fuzz; inputs that fail are put beside that.
CLANG = clang
SECONDS = 60
sanitizers = -fsanitize=address,undefined -fno-sanitize-recover=all
objects = $(patsubst %.c,fuzz/objects/%.o,$(filter-out tests/fuzz/driver.c,$(filter %.c,$(1))))

all: $(TARGETS:%=run-%)

fuzz/objects/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(FLAGS) -U_FORTIFY_SOURCE -g -O1 -MMD -MP $(sanitizers) -fsanitize=fuzzer-no-link -c -o $@ $<

fuzz/objects/libgoheap.a: $(call objects,$(LIBRARY))
	rm -f $@ && ar cr $@ $^

define target
fuzz/$(1): $(call objects,$($(1))) fuzz/objects/libgoheap.a
	$(CLANG) $(sanitizers) -fsanitize=fuzzer -o $$@ $$^ $(LIBS)

run-$(1): fuzz/$(1) tests/fuzz/$(1)
	mkdir -p fuzz/corpus/$(1)
	tests/fuzz/$(1) -w fuzz/corpus/$(1)
	fuzz/$(1) -max_total_time=$(SECONDS) -timeout=25 -rss_limit_mb=4096 -artifact_prefix=fuzz/$(1)- fuzz/corpus/$(1)
endef
$(foreach name,$(TARGETS),$(eval $(call target,$(name))))

-include $(shell find fuzz/objects -name '*.d' 2>/dev/null)
