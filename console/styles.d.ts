/** Bundled into the one style sheet. */
declare module "*.css" {}
