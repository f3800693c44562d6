/** What a service is called, and where its parts lie. All paths are absolute. */
export interface Service {
  /** The name of the unit and, of one for the whole machine, of its user and group. */
  readonly name: string;
  /** For one user, by that user's own systemd; else for the whole machine. */
  readonly isForUser: boolean;
  readonly executable: string;
  readonly dataDir: string;
  /** Settings and keys, as lines of `NAME=value`. */
  readonly envFile: string;
}

/** The first words of a unit that `svc service` may write anew and remove. */
export const MARK = "# Written by svc service install";

/** Where systemd keeps what services store, and where the user's own systemd does not reach. */
const STATE = "/var/lib";

/** Longer than the default of `scheduler.drain_seconds`; a longer one is told to systemd when the stop begins. */
const STOP_SEC = 60;

/** Every thread's beat goes through the event loop, which no task of the service holds up for a second. */
const WATCHDOG_SEC = 60;

/** Connections, files and upstreams of a busy server; the usual 1024 are soon used up. */
const OPEN_FILES = 65_536;

/** Filters of system calls, which a systemd without privileges can set too. */
const FOR_ALL = `NoNewPrivileges=yes
LockPersonality=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @keyring @memlock
UMask=0077
# A core would hold keys.
LimitCORE=0
LimitNOFILE=${OPEN_FILES}
# Not MemoryDenyWriteExecute: JavaScript is compiled while it runs.`;

const FOR_MACHINE = `CapabilityBoundingSet=
AmbientCapabilities=
DevicePolicy=closed
PrivateDevices=yes
PrivateMounts=yes
PrivateTmp=yes
PrivateUsers=yes
ProcSubset=pid
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
RemoveIPC=yes`;

/** Renders the unit (systemd.service(5), systemd.exec(5)). */
export function renderUnit(service: Service, version: string): string {
  const { name, isForUser, executable, dataDir, envFile } = service;
  return `${MARK} (svc ${version}).
# Put changes into a file beside it (systemctl ${isForUser ? "--user " : ""}edit ${name}); the next install writes this one anew.
[Unit]
Description=Media generation gateway (${name})
${isForUser ? "" : "Wants=network-online.target\nAfter=network-online.target\n"}# A server that does not start is tried again for as long as it takes.
StartLimitIntervalSec=0
${isOwnFolder(service) ? "" : `RequiresMountsFor=${quote(dataDir)}\n`}
[Service]
Type=notify
NotifyAccess=main
ExecStart=${quote(executable)} serve --data-dir ${quote(dataDir)}
# Takes changes of svc.yaml up; those of the variables below need a restart.
ExecReload=/bin/kill -HUP $MAINPID
# Settings as SVC_* variables and keys of providers. Read by systemd itself, so the service needs no right to it.
EnvironmentFile=-${escapeSpecifiers(envFile)}
Restart=on-failure
RestartSec=2
# The command line or the settings are wrong, or the data folder is gone: somebody has to look first.
RestartPreventExitStatus=2 12 14
SuccessExitStatus=130 143
# The time that migrations take depends on the database.
TimeoutStartSec=infinity
TimeoutStopSec=${STOP_SEC}
WatchdogSec=${WATCHDOG_SEC}

${isForUser ? "" : `${ownership(service)}\n\n${FOR_MACHINE}\n`}${FOR_ALL}

[Install]
WantedBy=${isForUser ? "default" : "multi-user"}.target
`;
}

/** The user of a service, as systemd-sysusers makes one (sysusers.d(5)). */
export function renderUser({ name }: Service): string {
  return `${MARK}.\nu ${name} - "Media generation gateway"\n`;
}

/** What the file of settings begins with. It is made once, and never changed. */
export const ENV_FILE = `# Settings of the service as SVC_* variables (\`svc help settings\` lists them), and keys of providers. One a line: NAME=value
# A restart takes changes up. Keep this file for its owner alone (mode 0600).
#SVC_PORT=8787
#SVC_PUBLIC_URL=https://media.example.com
#SVC_TRUSTED_PROXIES=127.0.0.1,::1
`;

/** Whether systemd creates the data folder for the service's user. */
export function isOwnFolder({ name, isForUser, dataDir }: Service): boolean {
  return !isForUser && dataDir === `${STATE}/${name}`;
}

/** Where the data of a service lies unless told otherwise. */
export const usualDataDir = (name: string): string => `${STATE}/${name}`;

function ownership(service: Service): string {
  const { name, dataDir } = service;
  const folder = isOwnFolder(service)
    ? `StateDirectory=${name}\nStateDirectoryMode=0700`
    : `ReadWritePaths=${quote(dataDir)}`;
  return `User=${name}
Group=${name}
${folder}
# The libraries that decode images are unpacked there.
CacheDirectory=${name}
CacheDirectoryMode=0700
Environment=SVC_NATIVE_DIR=/var/cache/${name}`;
}

/** Whether a path can stand in a unit: no line breaks, nothing that is not text. */
export const isUnitPath = (path: string): boolean =>
  path.startsWith("/") && !/[\p{Cc}\u2028\u2029]/u.test(path);

/** `%` begins a specifier of systemd everywhere. */
const escapeSpecifiers = (path: string): string => path.replaceAll("%", "%%");

function quote(path: string): string {
  if (/^[\w./@+:,-]+$/.test(path)) return path;
  return `"${escapeSpecifiers(path).replaceAll(/[\\"]/g, "\\$&").replaceAll("$", "$$$$")}"`;
}
