/* Binary search. */
#ifndef GH_UTIL_BSEARCH_H
#define GH_UTIL_BSEARCH_H

/* How many of the numbers below COUNT come before what is looked for: the lower bound.
 *
 * BEFORE is an expression of I, which the macro declares. It must hold for all numbers up to some
 * place and for none from there on, as it does where I indexes a sorted array:
 *
 *     size_t i = gh_lower_bound(count, i, items[i].address < address);
 *     bool found = i < count && items[i].address == address;
 *
 * With <= it is the upper bound, one past the last item that starts at or below the address:
 *
 *     size_t after = gh_lower_bound(count, i, ranges[i].start <= address);
 *     const struct range *last = after > 0 ? &ranges[after - 1] : NULL;
 *
 * COUNT is evaluated once, BEFORE once per step, of which there are at most as many as COUNT has
 * bits. The result has the type of COUNT, an unsigned integer, and is COUNT where BEFORE holds for
 * all. BEFORE reads nothing at or past COUNT. */
#define gh_lower_bound(count, i, before)                                                           \
	__extension__({                                                                            \
		__auto_type gh_high_ = (count);                                                    \
		__typeof__(gh_high_) gh_low_ = 0;                                                  \
		while (gh_low_ < gh_high_) {                                                       \
			const __typeof__(gh_high_) i = gh_low_ + (gh_high_ - gh_low_) / 2;         \
			if (before)                                                                \
				gh_low_ = i + 1;                                                   \
			else                                                                       \
				gh_high_ = i;                                                      \
		}                                                                                  \
		gh_low_;                                                                           \
	})

#endif
