"""A small LinUCB service, as one would write it in an afternoon: FastAPI and numpy, in memory, nothing stored."""

import numpy as np
from fastapi import FastAPI
from pydantic import BaseModel

ARMS, DIMENSION, ALPHA = 2, 5, 1.0

app = FastAPI()
inverse = np.stack([np.eye(DIMENSION) for _ in range(ARMS)])
moment = np.zeros((ARMS, DIMENSION))


class Ask(BaseModel):
    context: list[float]


@app.post("/decide")
async def decide(ask: Ask):
    x = np.asarray(ask.context)
    estimates = np.einsum("aij,aj->ai", inverse, moment)
    width = np.sqrt(np.einsum("i,aij,j->a", x, inverse, x))
    return {"arm": int(np.argmax(estimates @ x + ALPHA * width))}
