#!/bin/bash
# Runs inside a machine that systemd has started, as its root. Each fact is a line of $RESULTS/facts: a name, a tab, a value.
set -u
QUICK=(-i 'sandbox:={"delay_ms":0}')
export PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
RESULTS=/results
fact() { printf '%s\t%s\n' "$1" "$(tr '\n\t' '  ' <<<"${*:2}")" >>$RESULTS/facts; }
code() { local name=$1; shift; "$@" >$RESULTS/$name.out 2>$RESULTS/$name.err; fact "$name" $?; }
show() { systemctl show "${2:-svc}" -p "$1" --value; }
ready() { curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:8787/readyz; }
until_ready() { for _ in $(seq 200); do [ "$(ready)" = 200 ] && return; sleep 0.1; done; }
until_restarted() { for _ in $(seq 300); do [ "$(show NRestarts)" -gt "$1" ] && [ "$(show ActiveState)" = active ] && return; sleep 0.1; done; }
# A later start is a try of its own: systemd counts the restarts of a service, not of this script.
drop_in() { mkdir -p /etc/systemd/system/svc.service.d; printf '[Service]\n%s\n' "$@" >/etc/systemd/system/svc.service.d/try.conf; systemctl daemon-reload; }

install -m 755 /svc /usr/local/bin/svc
code not_installed svc service status
code install svc service install
fact ready "$(ready)"
fact enabled "$(systemctl is-enabled svc)"
fact modes "$(stat -c '%a %U' /etc/svc/svc.env /var/lib/svc /var/cache/svc /etc/systemd/system/svc.service)"
fact again "$(svc service install --json --field changed)"
fact pid "$(svc service status --json --field pid)" "$(show MainPID)"
before=$(show MainPID)
echo 'log: { level: debug }' >/var/lib/svc/svc.yaml; chown svc /var/lib/svc/svc.yaml
code reload systemctl reload svc
for _ in $(seq 100); do journalctl -u svc -o cat --no-pager | grep -q 'read anew' && break; sleep 0.1; done
fact reloaded "$([ "$(show MainPID)" = "$before" ] && echo same)" "$(ready)" "$(journalctl -u svc -o cat --no-pager | grep -o '"settings":\["log.level"\],"msg":"settings were read anew' | wc -l)"
# Empty, not gone: a server whose settings file is gone keeps what it said, and logs an error.
: >/var/lib/svc/svc.yaml

# No call outside the filter: it would be the end of the process.
# A stop that systemd would cut short, if the server did not say that it takes longer.
drop_in SystemCallErrorNumber=kill TimeoutStopSec=1
systemctl restart svc
export SVC_API_KEY=$(grep -o 'sk-svc-[0-9A-Za-z]*' /var/lib/svc/bootstrap.json)
code image svc image fox -m sandbox-image -i size=64x64 "${QUICK[@]}" -o /tmp/a.png --no-input
code edit svc edit /tmp/a.png 'a cat' -m sandbox-image "${QUICK[@]}" -o /tmp/b.png --no-input
code video svc video fox -m sandbox-video "${QUICK[@]}" -o /tmp/a.mp4 --no-input
code keys runuser -u svc -- svc keys create --name other --data-dir /var/lib/svc
code seal runuser -u svc -- svc keys update other --callback-secret new --data-dir /var/lib/svc
fact filtered "$(show NRestarts)" "$(show Result)" "$(grep Seccomp: /proc/$(show MainPID)/status)"
code stop systemctl stop svc
fact stopped "$(show Result)" "$(show ExecMainStatus)"
fact log "$(journalctl -u svc -o cat --no-pager | grep -o '"msg":"stopp[a-z]*"' | tail -2 | sort -u)"
fact bad_lines "$(journalctl -u svc -o cat --no-pager | grep -cE '"level":"(warn|error)"')"
rm -r /etc/systemd/system/svc.service.d

systemctl daemon-reload; systemctl start svc
kill -9 "$(show MainPID)"; until_restarted 0; until_ready
fact killed "$(show NRestarts)" "$(ready)"

drop_in WatchdogSec=4
systemctl restart svc; before=$(show MainPID)
sleep 6
fact watched "$(show NRestarts)" "$([ "$(show MainPID)" = "$before" ] && echo same)"
kill -STOP "$before"; until_restarted 0
fact hung "$([ "$(show MainPID)" != "$before" ] && echo another)" "$(journalctl -u svc -o cat --no-pager | grep -c 'Watchdog timeout')"
rm -r /etc/systemd/system/svc.service.d; systemctl daemon-reload

echo SVC_PORT=banana >>/etc/svc/svc.env
code wrong_setting svc service install
sleep 2.5
fact given_up "$(show ActiveState)" "$(show NRestarts)" "$(show ExecMainStatus)"
sed -i '$d' /etc/svc/svc.env
code installed_anew svc service install
fact kept "$(curl -s http://127.0.0.1:8787/v1/tasks -H "Authorization: Bearer $SVC_API_KEY" | grep -o '"status":"completed"' | wc -l)"

code other svc service install --name svc-two --data-dir '/srv/a %b "c' --no-start
printf 'SVC_PORT=8900\n' >/etc/svc-two/svc-two.env
code other_starts systemctl start svc-two
fact other_folder "$(stat -c '%a %U' '/srv/a %b "c/svc.db')" "$(curl -s http://127.0.0.1:8900/readyz)"
code other_uninstall svc service uninstall --name svc-two

code uninstall svc service uninstall
fact after "$(ls /etc/systemd/system/svc.service /etc/sysusers.d/svc.conf 2>/dev/null | wc -l)" "$(ls -d /var/lib/svc/svc.db /etc/svc/svc.env | wc -l)" "$(ready)"
code uninstalled svc service uninstall

useradd -m -s /bin/bash someone
code user_manager systemctl start "user@$(id -u someone)"
as_someone() { runuser -u someone -- env "XDG_RUNTIME_DIR=/run/user/$(id -u someone)" HOME=/home/someone "$@"; }
mkdir -p /home/someone/.config/svc; echo SVC_PORT=8950 >/home/someone/.config/svc/svc.env; chown -R someone /home/someone/.config
code refused as_someone svc service install
code user as_someone svc service install --user
fact user_state "$(as_someone svc service status --user --field active --json)" "$(as_someone svc service status --user --field result --json)" "$(curl -s -o /dev/null -w %{http_code} http://127.0.0.1:8950/readyz)"
code user_uninstall as_someone svc service uninstall --user
fact user_after "$(curl -s -o /dev/null -w %{http_code} http://127.0.0.1:8950/readyz)" "$(ls /home/someone/.local/share/svc/svc.db)"
touch $RESULTS/whole
