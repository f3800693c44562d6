import { defineConfig } from "drizzle-kit";

// drizzle-kit finds its configuration by this default export.
// biome-ignore lint/style/noDefaultExport: see above
export default defineConfig({
  dialect: "postgresql",
  schema: "./src/store/postgres/tables.ts",
  out: "./migrations/postgres",
});
