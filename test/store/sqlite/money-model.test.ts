import { openAudit } from "../../../src/store/audit.ts";
import { openStore } from "../../../src/store/open.ts";
import { describeMoneyModel } from "../../contracts/money-model.ts";
import { migratedFile } from "../../helpers/open-store.ts";

describeMoneyModel("money in SQLite", () => {
  const { path, remove } = migratedFile();
  return {
    store: openStore({ path }),
    async audit() {
      const opened = openAudit({ path });
      const report = await opened.run();
      opened.stop();
      return report;
    },
    remove,
  };
});
