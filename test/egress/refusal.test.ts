import { expect, test } from "bun:test";
import { createEgress } from "../../src/egress/egress.ts";

const resolve = () => Promise.reject(new Error("A refusal must not look anything up."));
const strict = createEgress({ allow: [], resolve, localAddresses: () => ["198.4.5.6"] });
const open = createEgress({ allow: ["127.0.0.0/8", "192.168.7.0/24"], resolve, localAddresses: () => [] });

const refused: [string, string][] = [
  ["", "is not a valid URL"],
  ["hook", "is not a valid URL"],
  ["//example.com/", "is not a valid URL"],
  ["https://", "is not a valid URL"],
  ["https://exa mple.com/", "is not a valid URL"],
  ["https://example.com:99999/", "is not a valid URL"],
  ["ftp://example.com/", "must be an http or https URL"],
  ["file:///etc/passwd", "must be an http or https URL"],
  ["data:text/plain,hello", "must be an http or https URL"],
  ["javascript:alert(1)", "must be an http or https URL"],
  ["unix:/run/docker.sock", "must be an http or https URL"],
  ["ws://example.com/", "must be an http or https URL"],
  ["https://user@example.com/", "must not contain a user name or password"],
  ["https://user:secret@example.com/", "must not contain a user name or password"],
  ["https://:secret@example.com/", "must not contain a user name or password"],
  ["https://example.com:22/", "names port 22, which is not allowed"],
  ["http://example.com:25/", "names port 25, which is not allowed"],
  ["http://example.com:0/", "names port 0, which is not allowed"],
  ["https://example.com:6000/", "names port 6000, which is not allowed"],
  ["https://example.com:6697/", "names port 6697, which is not allowed"],
  ["https://example.com:10080/", "names port 10080, which is not allowed"],
  ["http://127.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://127.1/", "names the address 127.0.0.1, which is not public"],
  ["http://2130706433/", "names the address 127.0.0.1, which is not public"],
  ["http://0x7f.1/", "names the address 127.0.0.1, which is not public"],
  ["http://0177.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://127.0.0.1./", "names the address 127.0.0.1, which is not public"],
  ["http://①②⑦.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://%31%32%37.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http:\\\\127.0.0.1\\", "names the address 127.0.0.1, which is not public"],
  ["HTTP:/127.0.0.1", "names the address 127.0.0.1, which is not public"],
  [" \thttp://127.0.0.1\n/", "names the address 127.0.0.1, which is not public"],
  ["http://127.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://0x7f000001/", "names the address 127.0.0.1, which is not public"],
  ["http://017700000001/", "names the address 127.0.0.1, which is not public"],
  ["http://0X7F.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://0x7f.0x0.0x0.0x1/", "names the address 127.0.0.1, which is not public"],
  ["http://127.0x0.00.1/", "names the address 127.0.0.1, which is not public"],
  ["http://00000177.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://127.65535/", "names the address 127.0.255.255, which is not public"],
  ["http://１２７.０.０.１/", "names the address 127.0.0.1, which is not public"],
  ["http://127。0。0。1/", "names the address 127.0.0.1, which is not public"],
  ["http://127．0｡0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://%6c%6Fcalhost/", "names the host localhost, which is not public"],
  ["http://ⓛocalhost/", "names the host localhost, which is not public"],
  ["http://loc\u00adalhost/", "names the host localhost, which is not public"],
  ["http://2852039166/", "names the address 169.254.169.254, which is not public"],
  ["http://0xa9fea9fe/", "names the address 169.254.169.254, which is not public"],
  ["http://0251.0376.0251.0376/", "names the address 169.254.169.254, which is not public"],
  ["http://169.254.43518/", "names the address 169.254.169.254, which is not public"],
  ["http://0x0a.1/", "names the address 10.0.0.1, which is not public"],
  ["http://3232235521/", "names the address 192.168.0.1, which is not public"],
  ["http://1.2.3.4.5/", "is not a valid URL"],
  ["http://256.1.1.1/", "is not a valid URL"],
  ["http://4294967296/", "is not a valid URL"],
  ["http://08.8.8.8/", "is not a valid URL"],
  ["http://[127.0.0.1]/", "is not a valid URL"],
  ["http://[::1/", "is not a valid URL"],
  ["http://::1/", "is not a valid URL"],
  ["http://[fe80::1%25eth0]/", "is not a valid URL"],
  ["http://[::1%lo]/", "is not a valid URL"],
  ["http://127.0.0.1%2eexample.com:80@10.0.0.1/", "must not contain a user name or password"],
  ["http://example.com@127.0.0.1/", "must not contain a user name or password"],
  ["http://127.0.0.1#@example.com/", "names the address 127.0.0.1, which is not public"],
  ["http://127.0.0.1?@example.com/", "names the address 127.0.0.1, which is not public"],
  ["http:///127.0.0.1/", "names the address 127.0.0.1, which is not public"],
  ["http://0/", "names the address 0.0.0.0, which is not public"],
  ["https://169.254.169.254/latest/meta-data/", "names the address 169.254.169.254, which is not public"],
  ["https://[::1]/", "names the address ::1, which is not public"],
  ["https://[::]/", "names the address ::, which is not public"],
  ["https://[::ffff:127.0.0.1]/", "names the address ::ffff:7f00:1, which is not public"],
  ["https://[0:0:0:0:0:0:0:1]/", "names the address ::1, which is not public"],
  ["https://[::FFFF:7F00:1]/", "names the address ::ffff:7f00:1, which is not public"],
  ["https://[::127.0.0.1]/", "names the address ::7f00:1, which is not public"],
  ["https://[::ffff:0:127.0.0.1]/", "names the address ::ffff:0:7f00:1, which is not public"],
  ["https://[64:ff9b:1::10.0.0.1]/", "names the address 64:ff9b:1::a00:1, which is not public"],
  ["https://[2002:7f00:1::]/", "names the address 2002:7f00:1::, which is not public"],
  ["https://[2001::1]/", "names the address 2001::1, which is not public"],
  ["https://[2600::5efe:127.0.0.1]/", "names the address 2600::5efe:7f00:1, which is not public"],
  ["https://[fe80::1]/", "names the address fe80::1, which is not public"],
  ["https://[64:ff9b::7f00:1]/", "names the address 64:ff9b::7f00:1, which is not public"],
  ["https://[fd00:ec2::254]/", "names the address fd00:ec2::254, which is not public"],
  ["https://198.4.5.6/", "names the address 198.4.5.6, which is not public"],
  ["http://localhost:8080/", "names the host localhost, which is not public"],
  ["http://LOCALHOST./", "names the host localhost., which is not public"],
  ["http://app.localhost/", "names the host app.localhost, which is not public"],
];
test.each(refused)("%p is refused without a look-up", (url, clause) => {
  expect(strict.refusal(url)?.clause).toBe(clause);
});

const taken = [
  "https://example.com/hook?token=1#part",
  "http://example.com/hook",
  "https://example.com:8443/",
  "https://example.com:3000/",
  "https://bücher.example/",
  "https://1.1.1.1/",
  "https://[2606:4700:4700::1111]:8443/hook",
  "https://localhost.example.com/",
  "https://notlocalhost/",
];
test.each(taken)("%p may be tried", (url) => {
  expect(strict.refusal(url)).toBeUndefined();
});

test("addresses and localhost names that are let through may be tried", () => {
  expect(open.refusal("http://127.0.0.1:8080/")).toBeUndefined();
  expect(open.refusal("http://localhost:8080/")).toBeUndefined();
  expect(open.refusal("http://192.168.7.20/hook")).toBeUndefined();
  expect(open.refusal("http://192.168.8.20/hook")?.clause).toBeString();
  expect(open.refusal("http://[::ffff:127.0.0.1]/")?.clause).toBeString();
});

test("what egress.allow lets through is told from what nothing does", () => {
  const isAllowable = (url: string, use?: "media" | "service") => strict.refusal(url, use)?.isAllowable;
  expect(["http://10.0.0.1/", "http://localhost/"].map((url) => isAllowable(url))).toEqual([true, true]);
  expect(isAllowable("http://10.0.0.1/a.png", "media")).toBe(true);
  expect(isAllowable("http://checks.example/", "service")).toBe(true);
  for (const url of ["nowhere", "ftp://10.0.0.1/", "http://a:b@10.0.0.1/", "http://10.0.0.1:22/"])
    expect([isAllowable(url), isAllowable(url, "service")]).toEqual([false, false]);
});

test("media take https, and http only where something is let through", () => {
  expect(strict.refusal("https://example.com/a.png", "media")).toBeUndefined();
  expect(strict.refusal("http://example.com/a.png", "media")?.clause).toBe("must be an https URL");
  expect(strict.refusal("http://1.1.1.1/a.png", "media")?.clause).toBe("must be an https URL");
  expect(strict.refusal("ftp://example.com/a.png", "media")?.clause).toBe("must be an https URL");
  expect(open.refusal("http://127.0.0.1/a.png", "media")).toBeUndefined();
  expect(open.refusal("http://1.1.1.1/a.png", "media")?.clause).toBe("must be an https URL");
  expect(open.refusal("http://may-be-local.example/a.png", "media")).toBeUndefined();
});
