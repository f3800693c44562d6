import { dataUri, plainImage } from "../support/pictures.ts";
import { among, type Malformed } from "./request.ts";

const IMAGE = { model: "sandbox-image", prompt: "x", size: "16x16" } as const;

/** Hosts that are this machine, its network or nobody's, in the spellings that URL readers take for them. */
const PRIVATE_HOSTS = [
  ...[
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7F.0.0.1",
    "0177.0.0.1",
    "017700000001",
  ],
  ...["127.0.0.1.", "127。0。0。1", "①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "localhost", "LOCALHOST.", "a.localhost"],
  ...[
    "0",
    "0.0.0.0",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
  ],
  ...["[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[fe80::1]", "[fc00::1]", "[fec0::1]", "[ff02::1]"],
  ...["10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "168.63.129.16", "192.0.2.1"],
  ...["198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "[fd00:ec2::254]", "[2001:db8::1]"],
];

const BAD_URLS = [
  ...[
    "https://",
    "https://%",
    "https://a b/x",
    "https://[::1",
    "https://256.256.256.256/",
    "https://1.2.3.4.5/",
  ],
  ...["https://user@example.com/x", "https://user:secret@example.com/x", "https://:secret@example.com/"],
  ...["https://example.com:99999/", "https://example.com:22/x", "https://example.com:0/x"],
];

const OTHER_SCHEMES = [
  ...[
    "file:///etc/passwd",
    "FILE:/etc/passwd",
    "gopher://example.com/_x",
    "javascript:alert(1)",
    "ftp://example.com/a.png",
  ],
  ...[
    "ws://example.com/x",
    "blob:https://example.com/1",
    "about:blank",
    "jar:https://example.com!/x",
    "ssh://example.com",
  ],
  ...[
    "unix:/run/docker.sock",
    "dict://example.com:11211/stat",
    "ldap://example.com/x",
    "view-source:https://example.com",
  ],
];

const NO_URLS = [
  "//example.com/a.png",
  "/etc/passwd",
  "example.com/a.png",
  "asset_00000000000000000000000000",
  " ",
  "\\\\example.com\\a",
];

const DATA_URIS = [
  ...[
    "data:",
    "data:,",
    "data:image/png",
    "data:image/png;base64",
    "DATA:image/png;base64,",
    "data:image/png,AAAA",
    "data:;base64,",
  ],
  ...[
    "data:image/png;base64,====",
    "data:image/png;base64,A",
    "data:image/png;base64,AA=A",
    "data:image/png;base64,AAAA=",
    "data:image/png;base64,AAAA\n",
  ],
  ...[
    "data:image/png;base64,AA AA",
    "data:image/png;base64,AA_-",
    "data:image/png;base64,%41%41%41%41",
    "data:image/png;base64;charset=x,AAAA",
  ],
  `data:image/${"Z".repeat(5000)};base64,AAAA`,
  `data:image/png;base64,${"@".repeat(5000)}`,
];

/** Addresses of inputs and callbacks that must not be asked, and those that are none. */
export async function malformedAddresses(): Promise<Malformed[]> {
  const media = (image_url: string): Malformed => ({
    name: `image_url = ${image_url.slice(0, 60)}`,
    body: { ...IMAGE, image_url },
    param: "image_url",
  });
  const callback = (callback_url: string): Malformed => ({
    name: `callback_url = ${callback_url.slice(0, 60)}`,
    body: { ...IMAGE, callback_url },
    param: "callback_url",
  });
  const png = dataUri(await plainImage(16, 16));
  return among({ path: "/v1/images/generations" }, [
    ...PRIVATE_HOSTS.flatMap((host) => [media(`https://${host}/x.png`), callback(`http://${host}:8080/x`)]),
    ...[...BAD_URLS, ...OTHER_SCHEMES, ...NO_URLS].flatMap((url) => [media(url), callback(url)]),
    ...DATA_URIS.map(media),
    media("http://example.com/a.png"),
    media("http://127.0.0.1/a.png"),
    callback(png),
    callback("data:text/plain,hello"),
    {
      name: "11 data URIs",
      body: { ...IMAGE, image_urls: Array.from({ length: 11 }, () => png) },
      param: "image_urls",
    },
    {
      name: "a text of 5 MB that is no data URI",
      body: { ...IMAGE, image_url: `https://example.com/${"x".repeat(5_000_000)}` },
      status: 413,
      code: "request_too_large",
    },
  ]);
}
