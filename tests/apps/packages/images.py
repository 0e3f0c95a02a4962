# OpenCV: what it does to images and matrices with OpenCL, against what it does without.
import sys

import cv2
import numpy as np

random = np.random.default_rng(5)
img = cv2.GaussianBlur(random.integers(0, 256, (120, 160, 3), dtype=np.uint8), (9, 9), 3)
gray = cv2.cvtColor(img, cv2.COLOR_BGR2GRAY)
f = gray.astype(np.float32) / 255
wrong = []


def both(name, function, *arguments, tol=1.0):
    """Calls `function` with and without OpenCL; the results must not differ by more than `tol`."""
    cv2.ocl.setUseOpenCL(True)
    got = function(*[cv2.UMat(a) if isinstance(a, np.ndarray) else a for a in arguments])
    got = got.get() if isinstance(got, cv2.UMat) else got
    cv2.ocl.setUseOpenCL(False)
    expected = function(*arguments)
    difference = np.abs(np.asarray(got, dtype=np.float64) - np.asarray(expected, dtype=np.float64)).max()
    if not difference <= tol:
        wrong.append(name)
        print(name, "differs by", difference)


cv2.ocl.setUseOpenCL(True)
if not cv2.ocl.useOpenCL():
    sys.exit("OpenCV finds no OpenCL device")
both("gaussian", lambda a: cv2.GaussianBlur(a, (7, 7), 1.5), img)
both("median", lambda a: cv2.medianBlur(a, 5), img)
both("bilateral", lambda a: cv2.bilateralFilter(a, 7, 30, 30), gray)
both("sobel", lambda a: cv2.Sobel(a, cv2.CV_16S, 1, 0), gray)
both("laplacian", lambda a: cv2.Laplacian(a, cv2.CV_32F), f, tol=1e-4)
both("resize", lambda a: cv2.resize(a, (203, 77), interpolation=cv2.INTER_LINEAR), img, tol=2)
both("resize area", lambda a: cv2.resize(a, (80, 60), interpolation=cv2.INTER_AREA), img, tol=2)
both("warp", lambda a: cv2.warpAffine(a, np.float32([[0.9, 0.2, 3], [-0.1, 1.1, 5]]), (160, 120)), img, tol=6)
both(
    "perspective",
    lambda a: cv2.warpPerspective(a, np.float32([[0.9, 0.2, 3], [-0.1, 1.1, 5], [0.0001, 0.0002, 1]]), (160, 120)),
    gray,
    tol=8,
)
columns = np.tile(np.linspace(0, 150, 160, dtype=np.float32), (120, 1))
rows = np.tile(np.linspace(110, 3, 120, dtype=np.float32)[:, None], (1, 160))
both("remap", lambda a: cv2.remap(a, columns, rows, cv2.INTER_LINEAR), gray, tol=3)
both("threshold", lambda a: cv2.threshold(a, 128, 255, cv2.THRESH_BINARY)[1], gray)
both("adaptive", lambda a: cv2.equalizeHist(a), gray, tol=1)
both("erode", lambda a: cv2.erode(a, np.ones((5, 5), np.uint8)), gray)
both("morph", lambda a: cv2.morphologyEx(a, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)), gray)
both("canny", lambda a: cv2.Canny(a, 30, 90), gray, tol=255)
both("hsv", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2HSV), img, tol=2)
both("lab", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2Lab), img, tol=2)
both("yuv", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2YCrCb), img, tol=1)
both("dft", lambda a: cv2.dft(a, flags=cv2.DFT_COMPLEX_OUTPUT), f, tol=0.05)
both("gemm", lambda a, b: cv2.gemm(a, b, 1, None, 0), f, np.ascontiguousarray(f.T), tol=1e-2)
both("add", lambda a, b: cv2.addWeighted(a, 0.3, b, 0.7, 2), img, np.flip(img).copy(), tol=1)
both("norm", lambda a: np.float64(cv2.norm(a, cv2.NORM_L2)), f, tol=1e-2)
both("minmax", lambda a: np.array(cv2.minMaxLoc(a)[:2]), gray, tol=0)
both("mean", lambda a: cv2.mean(a)[0], gray, tol=1e-6)
both("hist", lambda a: cv2.calcHist([a], [0], None, [64], [0, 256]), gray, tol=0)
both("integral", lambda a: cv2.integral(a), gray, tol=0)
both("reduce", lambda a: cv2.reduce(a, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32S), gray, tol=0)
both("split", lambda a: cv2.merge(list(cv2.split(a))[::-1]), img, tol=0)
both("transpose", lambda a: cv2.flip(cv2.transpose(a), 1), img, tol=0)
both("exp", lambda a: cv2.exp(a), f, tol=1e-5)
both("pow", lambda a: cv2.pow(a, 2.5), f, tol=1e-5)
both("polar", lambda a, b: cv2.magnitude(a, b), f, np.flip(f).copy(), tol=1e-5)
both("inrange", lambda a: cv2.inRange(a, (50, 60, 70), (150, 160, 170)), img, tol=0)
both("match", lambda a, b: cv2.matchTemplate(a, b, cv2.TM_CCOEFF_NORMED), gray, gray[30:50, 40:70].copy(), tol=5e-3)
both("pyr", lambda a: cv2.pyrUp(cv2.pyrDown(a)), gray, tol=2)
both("filter2D", lambda a: cv2.filter2D(a, -1, np.float32([[0, -1, 0], [-1, 5, -1], [0, -1, 0]])), gray, tol=1)
both("nlmeans", lambda a: cv2.fastNlMeansDenoising(a, None, 7, 5, 11), gray, tol=2)
both(
    "farneback",
    lambda a, b: cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 2, 9, 2, 5, 1.1, 0),
    gray,
    np.roll(gray, 2, 1),
    tol=0.5,
)
print("wrong: " + ", ".join(wrong) if wrong else "all right")
sys.exit(len(wrong) > 0)
