import { expect, test } from "bun:test";
import { createHash, createHmac } from "node:crypto";
import { signVolc } from "../../../src/providers/declared/signatures.ts";

const KEYS = { service: "cv", region: "cn-north-1", accessKey: "AK", secretKey: "SK" };

test("parameters are signed in the order of their names, also where one begins as another", async () => {
  const url = new URL("https://visual.example/?id2=2&b=%2F&id=1&id=0&Version=2022-08-31");
  const signed = await signVolc({ method: "GET", url, headers: {} }, KEYS, Date.UTC(2026, 10, 23, 4, 40, 51));
  const hash = createHash("sha256").update("").digest("hex");
  const canonical = [
    ...["GET", "/", "Version=2022-08-31&b=%2F&id=0&id=1&id2=2"],
    ...["host:visual.example", `x-content-sha256:${hash}`, "x-date:20261123T044051Z"],
    ...["", "host;x-content-sha256;x-date", hash],
  ].join("\n");
  const scope = "20261123/cn-north-1/cv/request";
  const digest = createHash("sha256").update(canonical).digest("hex");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const key = scope.split("/").reduce<string | Buffer>(hmac, KEYS.secretKey);
  const signature = hmac(key, ["HMAC-SHA256", "20261123T044051Z", scope, digest].join("\n")).toString("hex");
  expect(signed.headers?.Authorization).toEndWith(`, Signature=${signature}`);
});
