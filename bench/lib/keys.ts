/** The gateway's table in the benchmark has one route per country and service. */
export const COUNTRY_COUNT = 200;
export const SERVICE_COUNT = 5;

export const REGION_NAMES = ["eu", "us", "ap"];
