import { expect, test } from "bun:test";
import { followRedirects } from "../../src/toolkit/redirects.ts";

/** Follows redirects among these answers: a location to go to, or a status. */
async function followed(answers: Readonly<Record<string, string | number>>, status = 302) {
  const visited: string[] = [];
  const request = async (url: string, hops: number) => {
    visited.push(`${hops} ${url}`);
    const answer = answers[url] ?? 404;
    return typeof answer === "number"
      ? new Response(null, { status: answer })
      : new Response(null, { status, headers: { location: answer } });
  };
  const end = await followRedirects("https://a.test/1", request, {
    max: 2,
    refuse: (problem) => new Error(problem),
  }).then(
    (response) => response.status,
    (error: Error) => error.message,
  );
  return { end, visited };
}

test("each hop is requested in turn, relative to the one before", async () => {
  const answers = {
    "https://a.test/1": "//b.test/x/2",
    "https://b.test/x/2": "3",
    "https://b.test/x/3": 200,
  };
  expect(await followed(answers)).toEqual({
    end: 200,
    visited: ["0 https://a.test/1", "1 https://b.test/x/2", "2 https://b.test/x/3"],
  });
});

test.each([301, 302, 303, 307, 308])("%i redirects", async (status) => {
  expect((await followed({ "https://a.test/1": "/2", "https://a.test/2": 200 }, status)).end).toBe(200);
});

test.each([200, 300, 304, 305])("%i with a location does not redirect", async (status) => {
  expect((await followed({ "https://a.test/1": "/2" }, status)).end).toBe(status);
});

test("one redirect too many is refused", async () => {
  const { end, visited } = await followed({ "https://a.test/1": "/1" });
  expect({ end, count: visited.length }).toEqual({ end: "redirects too many times", count: 3 });
});

test("a location that is no URL is refused", async () => {
  expect((await followed({ "https://a.test/1": "https://" })).end).toBe(
    "redirects to something that is not a URL",
  );
});
