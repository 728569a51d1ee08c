# shellcheck shell=bash disable=SC2154,SC2317 # as lib.sh has it; each server is started and loaded by its name
# What the tests of other people's servers share, after lib.sh: where they are, and how they are started and put under load, in
# a network of their own, that leads nowhere.

# program NAME PACKAGE PATH: sets the variable NAME to the path of that.
program() {
	local path
	if path=$("$tests/debian-program" "$2" "$3" 2>"$work/why"); then
		export "$1=$path"
	else
		skip "$1" "$(tail -n 1 "$work/why")"
	fi
}

# own_network PROGRAMS: begins the test again in a network of its own, or ends it if there is no server or no such network.
own_network() {
	if [ -z "${GOHEAP_SERVERS-}" ]; then
		[ -n "$1" ] || finish
		if ! unshare -r -n ip link set lo up 2>"$work/why"; then
			skip servers "$(tail -n 1 "$work/why")"
			finish
		fi
		rm -rf "$work"
		GOHEAP_SERVERS=yes exec unshare -r -n "$0"
	fi
	ip link set lo up
}

start_prometheus() {
	cat >"$work/prometheus.yml" <<-END
		global: {scrape_interval: 1s}
		scrape_configs: [{job_name: self, static_configs: [{targets: ['127.0.0.1:9090']}]}]
	END
	"$prometheus" --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/prometheus" \
		--web.listen-address=127.0.0.1:9090 >"$work/log" 2>&1 &
}

load_prometheus() {
	curl -sG http://127.0.0.1:9090/api/v1/query --data-urlencode 'query=sum(rate({__name__=~".+"}[1m])) by (__name__)'
}

start_etcd() {
	"$etcd" --data-dir "$work/etcd" --enable-pprof --listen-client-urls http://127.0.0.1:2379 \
		--advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380 \
		--initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster default=http://127.0.0.1:2380 \
		>"$work/log" 2>&1 &
}

load_etcd() {
	curl -s http://127.0.0.1:2379/v3/kv/put \
		-d "{\"key\":\"$(printf 'key%d' "$RANDOM" | base64)\",\"value\":\"$(head -c 600 /dev/urandom | base64 -w 0)\"}"
	curl -s http://127.0.0.1:2379/v3/kv/range -d '{"key":"AA==","range_end":"AA==","limit":500}'
}

start_syncthing() {
	local home=$work/syncthing i
	"$syncthing" generate --home="$home" --no-default-folder --skip-port-probing >"$work/log" 2>&1
	mkdir "$work/shared"
	for i in {1..500}; do
		echo "$i" >"$work/shared/$i"
	done
	sed -i -E -e 's#(<(globalAnnounceEnabled|localAnnounceEnabled|relaysEnabled|natEnabled|crashReportingEnabled)>)true#\1false#' \
		-e "s#</configuration>#<folder id='a' path='$work/shared'/>&#" "$home/config.xml"
	STNOUPGRADE=1 STMONITORED=yes "$syncthing" serve --home="$home" --no-browser --no-restart \
		--gui-address=127.0.0.1:8384 --debug-profiler-listen=127.0.0.1:9091 >"$work/log" 2>&1 &
}

load_syncthing() {
	curl -s 'http://127.0.0.1:9091/debug/pprof/goroutine?debug=2'
}
