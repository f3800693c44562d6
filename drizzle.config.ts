import { defineConfig } from "drizzle-kit";

// drizzle-kit finds its configuration by this default export.
// biome-ignore lint/style/noDefaultExport: see above
export default defineConfig({
  dialect: "sqlite",
  schema: ["./src/store/sqlite/schema.ts", "./src/store/sqlite/callback-store/schema.ts"],
  out: "./migrations/sqlite",
});
