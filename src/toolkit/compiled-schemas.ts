/**
 * Checks of our own schemas of files, as code that `checkSource` wrote. The build fills it in. It is empty where svc runs from source,
 * and the schemas are compiled there when they are first used.
 */
export const compiledSchemas: { readonly manifest?: string; readonly form?: string } = {};
