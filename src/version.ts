import { version } from "../package.json" with { type: "json" };

/** The version of svc. The bundler keeps this one field of package.json. */
export const VERSION: string = version;

/**
 * Where the project lists its releases, for `svc upgrade --check`. A distribution names its own here; without one, the operator does.
 */
export const RELEASES_URL: string | undefined = undefined;
