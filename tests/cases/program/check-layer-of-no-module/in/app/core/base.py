from app.core.pool import late
