import { version } from "../package.json" with { type: "json" };

/** The version of svc. The bundler keeps this one field of package.json. */
export const VERSION: string = version;
