import { expect, test } from "bun:test";
import { FACADES } from "../../../src/domain/facades.ts";
import { type FacadeDeps, facadeEndpoints } from "../../../src/http/facades/endpoints.ts";
import { SPOKEN } from "../../../src/http/facades/spoken.ts";

// Endpoints are listed before anything is asked of what they need, but for the signal that uploads listen to.
const deps = { stopping: new AbortController().signal } as Partial<FacadeDeps> as FacadeDeps;

test("each facade can be left out, and has paths of its own", () => {
  expect(facadeEndpoints(deps, [])).toEqual([]);
  const pathsOf = (...names: readonly (typeof FACADES)[number][]) =>
    facadeEndpoints(deps, names).map(({ method, path }) => `${method} ${path}`);
  const all = FACADES.flatMap((name) => pathsOf(name));
  expect(new Set(all).size).toBe(all.length);
  expect(pathsOf(...FACADES)).toEqual(all);
  for (const name of FACADES) expect(pathsOf(name)).not.toBeEmpty();
});

test("a facade whose errors are its own has its paths below its base", () => {
  for (const { name, base, others = [] } of SPOKEN) {
    for (const { path } of facadeEndpoints(deps, [name]))
      expect([base, ...others].includes(path) || path.startsWith(`${base}/`)).toBeTrue();
  }
});
