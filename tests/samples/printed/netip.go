//go:build go1.18
// +build go1.18

package main

import (
	"fmt"
	"net/netip"
	"runtime"
)

// Addresses. To Go 1.22 one of IPv4 and the same in IPv6 differ by an address that nothing tells.
func addresses() {
	var minor int
	fmt.Sscanf(runtime.Version(), "go1.%d", &minor)
	likely := ""
	if minor < 23 {
		likely = "?"
	}
	for _, text := range []string{"192.0.2.1", "::ffff:192.0.2.1", "::", "::1", "2001:db8::8:800:200c:417a", "fe80::1%eth0", "1:0:0:2:0:0:0:3",
		"1:0:2::", "::1.2.3.4"} {
		address := netip.MustParseAddr(text)
		shown := address.String()
		if address.Is4In6() && likely != "" {
			shown = address.Unmap().String()
		}
		if address.Unmap().Is4() {
			shown += likely
		}
		row(&address, "netip.Addr("+shown+")")
	}
	var none netip.Addr
	row(&none, "netip.Addr(invalid IP)")
	port := netip.MustParseAddrPort("192.0.2.1:80")
	prefix := netip.MustParsePrefix("192.0.2.0/24")
	row(&prefix, "netip.Prefix(192.0.2.0"+likely+"/24)")
	longer := netip.MustParsePrefix("2001:db8::/32")
	row(&longer, "netip.Prefix("+longer.String()+")")
	var invalid netip.Prefix
	row(&invalid, "netip.Prefix("+invalid.String()+")")
	row(&port, "netip.AddrPort {ip: netip.Addr(192.0.2.1"+likely+"), port: 80}")
}
