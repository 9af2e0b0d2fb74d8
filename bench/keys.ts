/** The table that the gateway is measured with has one route for each pair of a country and a service. */
export const COUNTRY_COUNT = 200;
export const SERVICE_COUNT = 5;

export const REGION_NAMES = ["eu", "us", "ap"];
