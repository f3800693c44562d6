import { describeAssetStore } from "../../contracts/asset-store.ts";
import { makeS3Store } from "../../helpers/s3-store.ts";

describeAssetStore("asset store in a bucket", () => makeS3Store());
