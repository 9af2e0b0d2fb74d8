"""Clients of Python. Arguments: name, method, URL, bytes, pieces, pause."""

import asyncio
import sys
import time

name, method, url = sys.argv[1:4]
size, pieces, pause_ms = map(int, sys.argv[4:7])
piece = b"x" * (size // pieces)


def slowly():
    for _ in range(pieces):
        yield piece
        time.sleep(pause_ms / 1000)


async def slowly_async():
    for _ in range(pieces):
        yield piece
        await asyncio.sleep(pause_ms / 1000)


async def with_aiohttp():
    import aiohttp

    async with aiohttp.ClientSession() as session:
        data = slowly_async() if size else None
        async with session.request(method, url, data=data, allow_redirects=False) as answer:
            return answer.status, await answer.text()


def with_httpx():
    import httpx

    answer = httpx.request(method, url, content=slowly() if size else None)
    return answer.status_code, answer.text


status, text = asyncio.run(with_aiohttp()) if name == "aiohttp" else with_httpx()
print(f"{status} {text}")
