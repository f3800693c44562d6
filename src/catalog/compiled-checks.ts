/**
 * Checks of requests for the built-in models, by the model's id, as code that `checkSource` wrote. The build fills it in. It is empty
 * where svc runs from source, and schemas are compiled there when they are first used.
 */
export const compiledChecks: { readonly [model: string]: string } = {};
